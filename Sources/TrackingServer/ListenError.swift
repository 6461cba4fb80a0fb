// The port that cannot be had, told apart from all that can go wrong once it is bound.
internal import Glibc

/// The address to listen on cannot be bound.
package struct ListenError: Error, CustomStringConvertible {
    let code: CInt

    /// What `bind` says of an address, and of nothing else here.
    static let codes: Set<CInt> = [EADDRINUSE, EADDRNOTAVAIL, EACCES]

    /// The reason and the cure, to follow the address.
    package var description: String {
        let reason = String(cString: strerror(self.code))
        let cure =
            switch self.code {
            case EADDRINUSE: "stop what listens there, or choose another port"
            case EADDRNOTAVAIL: "choose an address of this machine"
            default: "choose a port that this user may bind"
            }
        return "that cannot be bound: \(reason.lowercased()): \(cure)"
    }
}
