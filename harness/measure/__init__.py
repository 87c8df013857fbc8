"""Measuring: time, exact memory, machine facts, and a control beside every measurement.

Importing this package or `harness.measure.machine` imports no torch.
"""
