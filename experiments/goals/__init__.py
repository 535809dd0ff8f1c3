"""The goals beyond the paper: each module plans the parts that measure one of them, and says whether it is met."""
