"""What the reverse sweep reads of the forward sweep: kept, saved, computed again, or put back."""
