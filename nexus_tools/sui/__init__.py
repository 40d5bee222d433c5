"""What Sui is: addresses, types, transactions, effects, objects and their binary forms."""
