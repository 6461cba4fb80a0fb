internal import TrackingRules

extension Platform {
    /// The platform that a user agent names; nil if it names none.
    ///
    /// Campaign Standard's SDKs send `Mozilla/5.0 (Linux; U; Android 14; …)` and `Mozilla/5.0
    /// (iPhone; CPU OS 18_1 like Mac OS X; …)`. Classic's leave it to the system, which sends
    /// `Dalvik/2.1.0 (Linux; U; Android 14; …)` and `App/1 CFNetwork/1568.200.51 Darwin/24.1.0`.
    init?(userAgent text: String) {
        let text = text.utf8
        if text.hasPart("Android") {
            self = .android
        } else if text.hasPart("like Mac OS X") || text.hasPart("CFNetwork/") {
            self = .ios
        } else {
            return nil
        }
    }
}

extension String.UTF8View {
    fileprivate func hasPart(_ part: StaticString) -> Bool {
        part.withUTF8Buffer { part in
            var start = self.startIndex
            while let found = self[start...].firstIndex(of: part[0]) {
                if self[found...].starts(with: part) { return true }
                start = self.index(after: found)
            }
            return false
        }
    }
}
