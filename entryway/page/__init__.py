"""The page for people: what an AgentDoc says, in plain words.

    AgentDoc -> facts -> template -> bytes        made once a publish, in a worker thread, and kept

The invariant: nothing that a document says becomes anything but text. Every template escapes; text is bounded and shown
without what would reverse, hide or drive it (`page.text`); a link is made of an http address only, and is not followed
for its sake. The page runs no script, asks no third party for anything, and says so in its headers.

Source: section 9 of `rules-beyond-chapter-6`; binding 3.
"""
