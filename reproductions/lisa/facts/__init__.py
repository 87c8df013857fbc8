"""Sizes of the models and of the data sets: Tables 14 and 15."""
