/// A text that is a key or an id: compared, hashed and ordered by its bytes. Swift's String takes
/// all spellings of a character for equal, so that two keys would become one.
package struct ExactText: Hashable, Comparable, Sendable {
    /// The text.
    package let text: String

    /// Creates a key of a text.
    package init(_ text: String) { self.text = text }

    /// Whether both have the same bytes.
    package static func == (left: ExactText, right: ExactText) -> Bool {
        left.text.equals(right.text)
    }

    /// Whether the bytes of `left` come first.
    package static func < (left: ExactText, right: ExactText) -> Bool {
        left.text.utf8.lexicographicallyPrecedes(right.text.utf8)
    }

    /// Hashes the bytes at once.
    package func hash(into hasher: inout Hasher) {
        self.text.withBytes { hasher.combine(bytes: $0) }
    }
}

extension ExactText: ExpressibleByStringLiteral {
    /// A literal as a key.
    package init(stringLiteral text: String) { self.init(text) }
}

extension String {
    /// Whether both texts have the same bytes. `==` asks whether they look alike: "é" is equal to
    /// an "e" with an accent behind it, and "K" to the sign for kelvin.
    package func equals(_ other: String) -> Bool { self.utf8.elementsEqual(other.utf8) }
}
