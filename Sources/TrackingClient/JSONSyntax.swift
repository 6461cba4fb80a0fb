// Finds where a text stops being JSON, for messages to people: SwiftProtobuf names no place.

/// A check of JSON's grammar that remembers the place, and nothing else.
struct JSONSyntax {
    private static let maxDepth = 100
    private let bytes: [UInt8]
    private var place = 0

    private init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// The first byte, from 0, that no JSON text may have there; `nil` where the text is JSON.
    static func firstFault(in bytes: [UInt8]) -> Int? {
        var syntax = JSONSyntax(bytes)
        guard syntax.value(depth: 0) else { return syntax.place }
        syntax.skipSpace()
        return syntax.place == bytes.count ? nil : syntax.place
    }

    private var next: UInt8? { self.place < self.bytes.count ? self.bytes[self.place] : nil }

    private mutating func skipSpace() {
        while let byte = self.next, [0x20, 0x09, 0x0A, 0x0D].contains(byte) {
            self.place += 1
        }
    }

    private mutating func take(_ letter: Unicode.Scalar) -> Bool {
        guard self.next == UInt8(ascii: letter) else { return false }
        self.place += 1
        return true
    }

    private mutating func take(word: StaticString) -> Bool {
        for letter in "\(word)".unicodeScalars {
            guard self.take(letter) else { return false }
        }
        return true
    }

    private mutating func value(depth: Int) -> Bool {
        self.skipSpace()
        guard depth < Self.maxDepth, let byte = self.next else { return false }
        switch byte {
        case UInt8(ascii: "{"):
            return self.list(closedBy: "}") { syntax in
                syntax.skipSpace()
                guard syntax.string() else { return false }
                syntax.skipSpace()
                return syntax.take(":") && syntax.value(depth: depth + 1)
            }
        case UInt8(ascii: "["):
            return self.list(closedBy: "]") { $0.value(depth: depth + 1) }
        case UInt8(ascii: "\""):
            return self.string()
        case UInt8(ascii: "t"):
            return self.take(word: "true")
        case UInt8(ascii: "f"):
            return self.take(word: "false")
        case UInt8(ascii: "n"):
            return self.take(word: "null")
        default:
            return self.number()
        }
    }

    private mutating func list(
        closedBy end: Unicode.Scalar, item: (inout JSONSyntax) -> Bool
    ) -> Bool {
        self.place += 1
        self.skipSpace()
        if self.take(end) { return true }
        while true {
            guard item(&self) else { return false }
            self.skipSpace()
            if self.take(end) { return true }
            guard self.take(",") else { return false }
        }
    }

    private mutating func string() -> Bool {
        guard self.take("\"") else { return false }
        while let byte = self.next, byte >= 0x20 {
            self.place += 1
            if byte == UInt8(ascii: "\"") { return true }
            if byte == UInt8(ascii: "\\") {
                guard let escaped = self.next, "\"\\/bfnrtu".utf8.contains(escaped) else {
                    return false
                }
                self.place += 1
            }
        }
        return false
    }

    private mutating func number() -> Bool {
        _ = self.take("-")
        if !self.take("0") {
            guard self.digits() else { return false }
        }
        if self.take(".") {
            guard self.digits() else { return false }
        }
        guard self.take("e") || self.take("E") else { return true }
        if !self.take("+") { _ = self.take("-") }
        return self.digits()
    }

    private mutating func digits() -> Bool {
        let start = self.place
        while let byte = self.next, (0x30...0x39).contains(byte) {
            self.place += 1
        }
        return self.place > start
    }
}
