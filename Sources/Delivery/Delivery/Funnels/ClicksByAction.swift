internal import WireFormat

/// An in-app message's clicks by the label of the button, in bounded memory: a client may send any
/// label, so only the first few have a count of their own.
package struct ClicksByAction: Sendable, Equatable {
    /// The clicks with one label.
    package struct Action: Sendable, Equatable {
        /// The label, cut to `maxNameBytes`; empty for actions without one.
        package var name: String { String(decoding: self.bytes, as: UTF8.self) }
        fileprivate let bytes: [UInt8]
        /// The clicks.
        package fileprivate(set) var clicks = 1
    }

    /// The maximum number of labels with a count.
    package static let maxActions = 4
    /// The bytes to which a label is cut; labels that begin alike may share a count.
    package static let maxNameBytes = 40

    /// In the order of their first click.
    package private(set) var named: [Action] = []
    /// The clicks with further labels.
    package private(set) var others = 0

    mutating func count(_ text: Bytes) {
        let name = Self.cut(text)
        let place = self.named.firstIndex { action in
            action.bytes.withUnsafeBytes { $0.holdsSame(as: name) }
        }
        if let place {
            self.named[place].clicks &+= 1
        } else if self.named.count < Self.maxActions {
            self.named.append(Action(bytes: Array(name)))
        } else {
            self.others &+= 1
        }
    }

    /// Cuts between two characters of UTF-8.
    private static func cut(_ text: Bytes) -> Bytes {
        guard text.count > Self.maxNameBytes else { return text }
        var end = Self.maxNameBytes
        while end > 0, text[end] & 0xc0 == 0x80 { end -= 1 }
        return Bytes(rebasing: text[..<end])
    }
}
