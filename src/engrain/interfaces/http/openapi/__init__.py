"""OpenAPI document of the HTTP interface: routes, schemas of answers, and examples."""
