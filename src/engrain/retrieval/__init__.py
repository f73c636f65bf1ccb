"""Finding the right memories: channels -> fusion -> ranking -> hits that say why."""
