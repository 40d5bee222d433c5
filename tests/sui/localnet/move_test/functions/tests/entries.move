module functions::entries;

entry fun of_nobody_else() {}
