/// The name of a host, as a configuration has it.
package enum HostName {
    /// Whether a text can be a host: letters, digits, `-`, `_` and single dots, at most 253 bytes.
    package static func isValid(_ text: String) -> Bool {
        let labels = text.split(separator: ".", omittingEmptySubsequences: false)
        return text.utf8.count <= 253
            && labels.allSatisfy { label in
                (1...63).contains(label.utf8.count)
                    && label.utf8.allSatisfy { byte in
                        (0x30...0x39).contains(byte) || (0x61...0x7a).contains(byte | 0x20)
                            || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
                    }
            }
    }
}
