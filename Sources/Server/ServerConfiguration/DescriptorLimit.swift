// How many files and sockets the process may have open, and how many a configuration asks for.
// rlimit is CoreFoundation's or Glibc's, by which of them the compiler meets first.
internal import AdminServer
internal import CoreFoundation
internal import Foundation
internal import Glibc
internal import HTTP2Edge
internal import HTTPDoor
internal import TrackingJournal

/// The process's limit of descriptors (RLIMIT_NOFILE).
package enum DescriptorLimit {
    /// Raises the soft limit to the hard one: shells and container engines often leave it at 1,024,
    /// for programs that use select().
    package static func raise() {
        var limit = Self.limit
        limit.rlim_cur = limit.rlim_max
        // A system call filter may forbid it: the limit that is there has to do then.
        _ = setrlimit(Self.resource, &limit)
    }

    /// Descriptors to which this process can raise its limit.
    static var hard: Int { Int(clamping: Self.limit.rlim_max) }

    private static var limit: rlimit {
        var limit = rlimit()
        // It fails for an unknown resource or a wrong pointer alone.
        getrlimit(Self.resource, &limit)
        return limit
    }

    private static var resource: __rlimit_resource_t { __rlimit_resource_t(RLIMIT_NOFILE.rawValue) }
}

extension ServerConfiguration {
    /// Databases with their logs, locks, listeners, event loops, exporters, and connections between
    /// their accept and their refusal.
    private static let fixedDescriptors = 256

    /// Descriptors that a server may have open besides its clients' connections.
    var ownDescriptors: Int {
        var count = Self.fixedDescriptors
        if self.admin.address != nil { count += self.admin.maxConnections }
        if self.http.address != nil { count += self.http.maxConnections }
        if self.journal.mode == .disk {
            // One for each segment; a segment holds one group at least.
            let bytes = max(1, self.journal.segmentBytes, self.journal.maxGroupBytes)
            count += self.journal.maxBytes / bytes
        }
        return count
    }

    /// What is wrong with `connections.max` where a process may have this many descriptors; nil
    /// where it fits.
    func descriptorRule(limit: Int) -> String? {
        let room = limit - self.ownDescriptors
        guard self.connections.maxCount > room else { return nil }
        let cure = "raise the limit (ulimit -Hn, LimitNOFILE of systemd, --ulimit nofile of docker)"
        let rule =
            "has to fit the hard limit of open files, \(limit), of which the server itself may "
            + "need \(self.ownDescriptors)"
        return room < 1 ? "\(rule): \(cure)" : "\(rule): \(cure), or set at most \(room)"
    }
}
