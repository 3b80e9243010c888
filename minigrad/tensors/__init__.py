"""The Tensor that people hold: its methods, how it is made, indexed, written to and printed."""
