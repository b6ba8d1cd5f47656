from typing import final

@final
class Data: ...
