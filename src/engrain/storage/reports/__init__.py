"""Reports: counts, overviews, health figures and the pages an audit reads."""
