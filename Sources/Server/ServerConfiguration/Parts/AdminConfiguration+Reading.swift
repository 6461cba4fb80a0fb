// The address of the admin server, which must not be open to the network unasked.
internal import AdminServer
internal import ConfigurationKeys

extension AdminConfiguration {
    /// Reads `admin.listen`, which names two values or none.
    mutating func read(_ values: inout ConfigurationValues) {
        let key = Self.name(of: \.address)
        self.address = values.optionalAddress(key)
        if let exposure = self.exposure { values.refuse(key, exposure) }
    }

    /// Why it must not listen on its address; nil where it may.
    private var exposure: String? {
        guard let address = self.address, !self.allowInsecure,
            !ServerConfiguration.isLoopback(address.host)
        else { return nil }
        return "anybody on the network could read what the server does: listen on 127.0.0.1 or "
            + "[::1], or allow it by \(Self.name(of: \.allowInsecure)): true"
    }
}
