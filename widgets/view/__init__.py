"""The concerns of the graph view, one file each: the learner's graph, the tables of the sliders, messages, files.

What lives here: everything that `GraphView` (widgets/graph.py) puts together.
"""
