from typing import final

@final
class Scratch: ...
