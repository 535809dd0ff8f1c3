"""The goals beyond the paper: each module plans the runs that measure one of them, and says whether it is met."""
