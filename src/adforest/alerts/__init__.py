"""Alerts: rules that are checked at every batch, and delivery of messages by command, webhook or mail."""

from adforest.alerts.checking import Alerts, read_alerts

__all__ = ["Alerts", "read_alerts"]
