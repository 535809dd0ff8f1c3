"""Alerts: rules checked at every batch, and how someone is told of what they find."""

from adforest.cli.alerts.checking import Alerts, read_alerts

__all__ = ["Alerts", "read_alerts"]
