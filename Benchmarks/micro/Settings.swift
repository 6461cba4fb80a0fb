// The proof that Package.swift's strict settings are on: a misspelt feature is silently ignored.
#if !hasFeature(ExistentialAny)
#error("ExistentialAny is off: see the strict settings in Package.swift")
#endif
#if !hasFeature(InternalImportsByDefault)
#error("InternalImportsByDefault is off: see the strict settings in Package.swift")
#endif
#if !hasFeature(MemberImportVisibility)
#error("MemberImportVisibility is off: see the strict settings in Package.swift")
#endif
