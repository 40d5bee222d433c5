/// With the name that the framework has.
module names::sui;

use sui::package::Publisher;
use names::std::Standard;

public struct Own has key, store { id: UID, publisher: Publisher, standard: Standard }
