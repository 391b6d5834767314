"""Operations on arrays, of which other rooms are made: facts of results, indices, overlaps, stores."""
