"""What everything stands on: tensors' fields, nodes, operations, modes, dtypes, errors. Nothing here knows a derivative."""
