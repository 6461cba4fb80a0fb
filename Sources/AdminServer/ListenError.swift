// The port that cannot be had, told apart from all that can go wrong once it is bound.
internal import Glibc

/// An address to listen on cannot be bound.
package struct ListenError: Error, CustomStringConvertible {
    /// The key that names the address.
    package let key: String
    /// HOST:PORT.
    package let address: String
    /// What `bind` failed with.
    package let code: CInt

    /// An address that cannot be bound.
    package init(key: String, address: String, code: CInt) {
        self.key = key
        self.address = address
        self.code = code
    }

    /// What `bind` says of an address, and of nothing else here.
    package static let codes: Set<CInt> = [EADDRINUSE, EADDRNOTAVAIL, EACCES]

    /// Which address, the reason and the cure.
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
