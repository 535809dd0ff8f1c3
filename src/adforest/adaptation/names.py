"""What the forests are called."""

PERMANENT, ACTIVE, TEMPORARY, NEWEST = FORESTS = ("permanent", "active", "temporary", "newest")
