internal import HTTPTypes

extension HTTPFields {
    /// The value of a header by its name in small letters, for names that HTTPTypes has not.
    subscript(named name: String) -> String? {
        get { HTTPField.Name(name).flatMap { self[$0] } }
        set {
            guard let name = HTTPField.Name(name) else { return }
            self[name] = newValue
        }
    }
}
