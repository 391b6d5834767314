"""Loop optimisations: batched products, strip mining, scalar replacement of small arrays, unboxing."""
