"""What a paper declares: parameters, experiments, tables, claims, tasks, and its own reference.

Nothing here imports torch or pandas: declarations are data, and every reading verb loads them.
"""
