// What a configuration asks of the machine: files that can be read, a directory that can be
// written. Looks, and changes nothing.
// stat() is CoreFoundation's or Glibc's, by which of them the compiler meets first.
internal import ConfigurationKeys
internal import CoreFoundation
internal import Foundation
internal import Glibc

/// Finds the keys whose files or directories are not what a server needs.
enum ConfigurationCheck {
    /// One problem per key; none where a server could use all of them.
    static func problems(of settings: [ConfigurationSetting]) -> [String] {
        settings.compactMap { setting in
            guard !setting.text.isEmpty else { return nil }
            switch setting.key.unit {
            case "file":
                return Self.readingProblem(setting.text).map {
                    ConfigurationValues.problem(
                        setting, "has to be a file that this user can read: \($0)")
                }
            // Those of the port are read whole elsewhere.
            case "PEM file" where setting.key.section != "tls":
                return Self.pemProblem(setting.text).map {
                    ConfigurationValues.problem(setting, "has to be a PEM file: \($0)")
                }
            case "directory":
                return Self.writingProblem(setting.text).map {
                    ConfigurationValues.problem(
                        setting, "has to be a directory that this user can write: \($0)")
                }
            default: return nil
            }
        }
    }

    /// Why a file cannot be read; nil where it can.
    private static func readingProblem(_ path: String) -> String? {
        // Never waits, as for the other end of a pipe.
        let descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { return String(cString: strerror(errno)) }
        defer { close(descriptor) }
        var byte: UInt8 = 0
        guard read(descriptor, &byte, 1) >= 0 || errno == EAGAIN else {
            return String(cString: strerror(errno))
        }
        return nil
    }

    /// Why a file has no part of PEM; nil where it has one.
    private static func pemProblem(_ path: String) -> String? {
        if let problem = Self.readingProblem(path) { return problem }
        // What is not there any more has been told.
        let data = FileManager.default.contents(atPath: path) ?? Data()
        return data.firstRange(of: Data("-----BEGIN ".utf8)) == nil
            ? "it has no line that begins with -----BEGIN" : nil
    }

    /// Why a directory cannot be written, or made where it is missing; nil where it can.
    private static func writingProblem(_ path: String) -> String? {
        var place = URL(filePath: path).standardizedFileURL.path(percentEncoded: false)
        while true {
            var status = stat()
            if stat(place, &status) == 0 {
                guard status.st_mode & S_IFMT == S_IFDIR else { return "\(place) is a file" }
                guard access(place, W_OK | X_OK) == 0 else {
                    return "\(place): \(String(cString: strerror(errno)))"
                }
                return nil
            }
            // What is missing would be made, in the nearest directory that is there.
            guard errno == ENOENT || errno == ENOTDIR, place.count > 1 else {
                return "\(place): \(String(cString: strerror(errno)))"
            }
            place = (place as NSString).deletingLastPathComponent
        }
    }
}
