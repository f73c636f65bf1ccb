"""Commands of whoever runs a memory: each is written by hand, since no verb of the table does its work."""
