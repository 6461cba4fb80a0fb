internal import Pacing

/// The places of `postback.upstream_requests`, or of mirrored records. A host whose server is slow
/// leaves the others their part, and so does one address of a host.
///
/// A lone host may have all places. Of N hosts that have some, each may have the N-th part in any
/// case, and of that each of its M addresses the M-th part. A value: its owner locks it.
struct UpstreamPlaces {
    private struct Host {
        var used = 0
        var addresses: [[UInt8]: Int] = [:]
    }

    private let bound: Int
    private var used = 0
    /// The hosts that have places.
    private var hosts: [[UInt8]: Host] = [:]

    /// Creates places of which none is taken.
    init(_ bound: Int) { self.bound = bound }

    /// Takes a place for a request.
    ///
    /// - Returns: false if there is none.
    mutating func take(host: [UInt8], address: [UInt8]) -> Bool {
        var row = self.hosts[host] ?? Host()
        let part = row.addresses[address] ?? 0
        let hosts = self.hosts.count + (row.used == 0 ? 1 : 0)
        let addresses = row.addresses.count + (part == 0 ? 1 : 0)
        let hasRoom =
            TenantShares.hasRoom(
                for: 1, part: row.used, used: self.used, tenants: hosts, bound: self.bound)
            || TenantShares.hasRoom(
                for: 1, part: part, used: row.used, tenants: addresses, bound: self.bound / hosts)
        guard hasRoom else { return false }
        self.used += 1
        row.used += 1
        row.addresses[address] = part + 1
        self.hosts[host] = row
        return true
    }

    /// Gives back a place that a request has taken.
    mutating func giveBack(host: [UInt8], address: [UInt8]) {
        guard var row = self.hosts[host], let part = row.addresses[address] else { return }
        self.used -= 1
        row.used -= 1
        row.addresses[address] = part > 1 ? part - 1 : nil
        self.hosts[host] = row.used > 0 ? row : nil
    }
}
