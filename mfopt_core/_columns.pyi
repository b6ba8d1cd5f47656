from typing import final

@final
class Columns:
    def __new__(cls, capacity: int) -> Columns: ...
