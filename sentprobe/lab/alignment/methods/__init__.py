"""Methods that map one space of word vectors to another; one file = one method."""
