from typing import final

@final
class Factor: ...
