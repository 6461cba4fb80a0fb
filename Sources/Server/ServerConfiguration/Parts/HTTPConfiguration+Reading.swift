// The address of the HTTP server, which must not be open to the network unasked.
internal import ConfigurationKeys
internal import HTTPDoor

extension HTTPConfiguration {
    /// Reads `http.listen`, which names two values or none.
    ///
    /// - Parameter exposure: why a server must not listen on a host; nil where it may.
    mutating func read(
        _ values: inout ConfigurationValues, exposure: (_ host: String) -> String?
    ) {
        let key = Self.name(of: \.address)
        self.address = values.optionalAddress(key)
        if let exposure = self.address.flatMap({ exposure($0.host) }) {
            values.refuse(key, exposure)
        }
    }
}
