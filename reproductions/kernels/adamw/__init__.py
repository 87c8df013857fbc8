"""AdamW over many tensors: masked weights, stacks of models, layers, shards."""
