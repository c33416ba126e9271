; Inno Setup's recipe for Windows. Build the folder first:  python packaging\distribution.py
; then:  iscc /DVersion=0.3.0 packaging\windows\prompt-studio.iss
; Written, not run: no Windows machine was at hand. packaging/README.md says what to look at first.

#ifndef Version
  #error Give the version: iscc /DVersion=...
#endif

[Setup]
AppId={{6D0C3C0B-6C0E-4B0E-9C39-1E6A6C9C7F41}
AppName=Prompt Studio
AppVersion={#Version}
AppPublisher=The Prompt Studio authors
DefaultDirName={autopf}\Prompt Studio
DefaultGroupName=Prompt Studio
DisableProgramGroupPage=yes
PrivilegesRequired=lowest
PrivilegesRequiredOverridesAllowed=dialog
ArchitecturesAllowed=x64compatible
ArchitecturesInstallIn64BitMode=x64compatible
ChangesAssociations=yes
LicenseFile=..\..\LICENSE
OutputDir=..\..\dist
OutputBaseFilename=prompt-studio-{#Version}-windows-x64
Compression=lzma2
SolidCompression=yes
WizardStyle=modern

[Languages]
Name: "english"; MessagesFile: "compiler:Default.isl"
Name: "german"; MessagesFile: "compiler:Languages\German.isl"

[Tasks]
Name: "desktopicon"; Description: "{cm:CreateDesktopIcon}"; Flags: unchecked
Name: "association"; Description: "{cm:AssocFileExtension,Prompt Studio,.prompty}"

[Files]
Source: "..\..\build\frozen\prompt-studio\*"; DestDir: "{app}"; Flags: recursesubdirs ignoreversion

[Icons]
Name: "{group}\Prompt Studio"; Filename: "{app}\prompt-studio.exe"
Name: "{autodesktop}\Prompt Studio"; Filename: "{app}\prompt-studio.exe"; Tasks: desktopicon

[Registry]
Root: HKA; Subkey: "Software\Classes\.prompty\OpenWithProgids"; ValueType: string; ValueName: "PromptStudio.prompty"; ValueData: ""; Flags: uninsdeletevalue; Tasks: association
Root: HKA; Subkey: "Software\Classes\PromptStudio.prompty"; ValueType: string; ValueData: "Prompt"; Flags: uninsdeletekey; Tasks: association
Root: HKA; Subkey: "Software\Classes\PromptStudio.prompty\DefaultIcon"; ValueType: string; ValueData: "{app}\prompt-studio.exe,0"; Tasks: association
Root: HKA; Subkey: "Software\Classes\PromptStudio.prompty\shell\open\command"; ValueType: string; ValueData: """{app}\prompt-studio.exe"" ""%1"""; Tasks: association

[Run]
Filename: "{app}\prompt-studio.exe"; Description: "{cm:LaunchProgram,Prompt Studio}"; Flags: nowait postinstall skipifsilent
