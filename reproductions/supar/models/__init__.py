"""What several studies share: points, training, slopes, quantities, tables, claims, drawing."""
