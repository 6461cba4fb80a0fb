internal import Glibc

/// An address cannot be bound.
package struct ListenError: Error, CustomStringConvertible {
    /// The configuration key of the address.
    package let key: String
    /// HOST:PORT.
    package let address: String
    /// The `errno` of `bind`.
    package let code: CInt

    /// Creates an error.
    package init(key: String, address: String, code: CInt) {
        self.key = key
        self.address = address
        self.code = code
    }

    /// The error codes that only `bind` returns here.
    package static let codes: Set<CInt> = [EADDRINUSE, EADDRNOTAVAIL, EACCES]

    /// The address, the reason and the fix.
    package var description: String {
        let reason = String(cString: strerror(self.code))
        let cure =
            switch self.code {
            case EADDRINUSE: "stop what listens there, or choose another port"
            case EADDRNOTAVAIL: "choose an address of this machine"
            default: "choose a port that this user may bind"
            }
        return "\(self.key) is \"\(self.address)\", but that cannot be bound: "
            + "\(reason.lowercased()): \(cure)"
    }
}
