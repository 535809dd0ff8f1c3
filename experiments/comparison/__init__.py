"""What is made of run records: means, gaps, significance, and the published figures next to ours."""
