"""Problems that several studies of (FG)2U share."""
