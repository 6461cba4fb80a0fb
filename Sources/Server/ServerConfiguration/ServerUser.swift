// stat() is CoreFoundation's or Glibc's, by which of them the compiler meets first.
internal import CoreFoundation
internal import Foundation
internal import Glibc

/// The user that a server runs as: the owner of its data directory. A command that another user
/// runs, such as root, says by it what that user could not read.
package struct ServerUser: Sendable {
    private let user: uid_t
    private let group: gid_t

    /// The owner of a data directory; nil if there is none yet, or if the owner is root, who may
    /// read every file, or whoever runs this process, who finds out by reading.
    package init?(ofDataDirectory path: String) {
        var status = stat()
        guard stat(path, &status) == 0, status.st_uid != 0, status.st_uid != geteuid() else {
            return nil
        }
        self.init(user: status.st_uid, group: status.st_gid)
    }

    /// A user with its own group.
    init(user: uid_t, group: gid_t) {
        self.user = user
        self.group = group
    }

    /// Why the user cannot read a file, and the fix; nil if it can, or nobody can tell.
    package func problem(reading path: String) -> String? {
        // What is not there is told elsewhere.
        guard let resolved = realpath(path, nil) else { return nil }
        defer { free(resolved) }
        let file = String(cString: resolved)
        if let problem = self.problem(of: file, right: 0o4, "read") { return problem }
        var place = file
        while place.utf8.count > 1 {
            place = (place as NSString).deletingLastPathComponent
            if let problem = self.problem(of: place, right: 0o1, "enter") { return problem }
        }
        return nil
    }

    private func problem(of path: String, right: mode_t, _ verb: String) -> String? {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        let mode = status.st_mode & 0o777
        guard !self.has(right, mode: mode, owner: status.st_uid, group: status.st_gid) else {
            return nil
        }
        return "user \(self.user), who owns data_dir, cannot \(verb) \(path): it belongs to user "
            + "\(status.st_uid) and group \(status.st_gid), with mode 0\(String(mode, radix: 8)); "
            + "give it to that user by chown, or to its group by chgrp and chmod"
    }

    /// Whether the user has a right, 4 to read or 1 to enter. It may be in any group but root's: a
    /// service manager gives it groups that no file lists.
    func has(_ right: mode_t, mode: mode_t, owner: uid_t, group: gid_t) -> Bool {
        if owner == self.user { return mode & (right << 6) != 0 }
        if group == self.group { return mode & (right << 3) != 0 }
        return mode & right != 0 || group != 0 && mode & (right << 3) != 0
    }
}
