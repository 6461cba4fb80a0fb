extension String {
    /// The text as a `grpc-message`: printable ASCII, everything else as %XX.
    package var percentEncodedMessage: String {
        self.utf8.map { byte in
            (0x20...0x7E).contains(byte) && byte != UInt8(ascii: "%")
                ? String(UnicodeScalar(byte)) : (byte < 16 ? "%0" : "%") + String(byte, radix: 16)
        }.joined()
    }
}
