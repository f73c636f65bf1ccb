"""The library's verbs as tools, each by its own name and with all its arguments: what `all` has besides the profiles.

For operators and scripts; a model has enough with a profile of few tools. Nothing else loads them.
"""

from engrain.interfaces.mcp.library import looking, pools, searching, upkeep, writing

OFFERS = (*writing.OFFERS, *searching.OFFERS, *looking.OFFERS, *pools.OFFERS, *upkeep.OFFERS)
