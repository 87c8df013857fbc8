"""What several studies share: points of grids, training, tables, quantities, drawing."""
