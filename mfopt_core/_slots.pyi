from typing import final

@final
class Slots: ...
