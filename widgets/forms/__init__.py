"""Programs of Tensors drawn as what they are: names.py, stages.py, figures.py (where everything stands), picture.py (the still twin)."""
