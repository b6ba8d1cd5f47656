from typing import final

@final
class Tracker: ...
