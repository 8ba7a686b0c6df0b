/**
 * What a secret looks like, as data. The formats of tokens are those that gitleaks 8.30.1 lists (config/gitleaks.toml, MIT) and
 * those of newer services; names of variables, headers and options are common ones. Every expression is linear, which
 * test/architecture/expressions checks.
 */

const BODIES: Readonly<Record<string, string>> = {
  a: '[A-Za-z0-9]',
  w: '[A-Za-z0-9_-]',
  h: '[0-9a-f-]',
  u: '[A-Z0-9]',
  n: '[A-Z2-7]',
  b: '[A-Za-z0-9+/_=-]',
};
/** Tokens by what follows their beginning, and how much of that at least; each with its rule and its beginning. */
const BY_BODY: Readonly<Record<string, string>> = {
  a10: 'stripe=[rs]k_(?:live|test|prod)_ flutterwave=FLWSECK(?:_TEST)?- neon=npg_',
  a16: 'alibaba=LTAI resend=re_[A-Za-z0-9]{6,10}_ vercel=vc[aikpr]_',
  a32: 'bitbucket=ATBB github=gh[oprsu]_ huggingface=(?:hf|api_org)_ infracost=ico- netlify=nf[bcopu]_ npm=npm_ prefect=pn[bu]_ replicate=r8_',
  a40: String.raw`artifactory=AKCp buildkite=bkua_ clojars=CLOJARS_ doppler=dp\.(?:pt|st|ct|sa|scim|audit)\. easypost=EZ[AT]K groq=gsk_ linear=lin_(?:api|oauth)_ notion=(?:ntn|secret)_ perplexity=pplx- posthog=ph[cxs]_ readme=rdme_ settlemint=sm_(?:pat|aat|sat)_ sourcegraph=sgp_ xai=xai-`,
  w16: String.raw`docker=dckr_[op]at_ gitlab=gl(?:pat|ptt|dt|rtr?|cbt|soat|ft|imt|agent|oas|ffct)- hashicorp=hv[bsr]\. mapbox=[sp]k\.[\w-]{40,400}\. newrelic=NR(?:AK|JS|II|IQ)- slack=(?:(?:xoxe[.-])?xox[abeoprs]|xapp)- square=sq0[a-z]{3}- supabase=sb(?:p|_secret)_ tailscale=tskey-[a-z]+-`,
  w28: String.raw`google=AIza google=GOCSPX- google=ya29\. figma=fig[dou]r?_ github=github_pat_ heroku=HRKU- langsmith=lsv2_(?:pt|sk)_ openai=sk-(?:proj|svcacct|admin|lf|or-v1)- sendgrid=SG\.[\w-]{16,64}\. tavily=tvly- yandex=AQVN api-key=sk-`,
  w40: String.raw`anthropic=sk-ant- circleci=CCIPAT_ contentful=CFPAT- duffel=duffel_(?:test|live)_ hashicorp=[A-Za-z0-9]{14}\.atlasv1\. nvidia=nvapi- openshift=sha256~ pinecone=pcsk_ pypi=pypi- scalingo=tk-us-`,
  h32: String.raw`databricks=dapi digitalocean=do[oprt]_v1_ hubspot=pat-(?:na|eu)\d- mailgun=(?:pub)?key- postman=PMAK- pulumi=pul- rubygems=rubygems_ sendinblue=xkeysib- shippo=shippo_(?:live|test)_ plaid=access-(?:sandbox|development|production)- shopify=shp(?:at|ca|pa|ss)_ twilio=SK`,
  h60: String.raw`airtable=pat[A-Za-z0-9]{14}\.`,
  b24: 'fly=f(?:o1|m[12]r?)_ grafana=gl(?:c|sa)_ planetscale=pscale_(?:tkn|oauth|pw)_ stripe=whsec_ typeform=tfp_',
  b60: '1password=ops_ atlassian=ATATT3 aws=ABSK sentry=sntry[su]_',
  // A family of many services: their name, the kind of the token, and one word.
  a20: 'api-key=[a-z][a-z0-9]{1,15}_(?:live|prod|pat|pt|sk|api|secret|token)_',
  u16: 'aws=A(?:3T|KIA|GPA|IDA|ROA|IPA|NPA|NVA|SIA)',
  u50: String.raw`age=AGE-SECRET-KEY- dynatrace=dt0[a-z]\d\d\.[A-Z0-9]{24}\.`,
  n56: 'nats-seed=S[ACNOUPX]',
};
export const TOKENS = Object.entries(BY_BODY).flatMap(([group, tokens]) =>
  tokens.split(' ').map((token) => {
    const at = token.indexOf('=');
    const body = BODIES[group.charAt(0)] ?? '';
    return [token.slice(0, at), token.slice(at + 1), body, Number(group.slice(1))] as const;
  }),
);

const FOREIGN =
  'passwort|kennwort|mot[-_ ]?de[-_ ]?passe|contrase(?:ñ|n)a|senha|wachtwoord|l(?:ö|o)senord|passord|adgangskode|salasana|has(?:ł|l)o|heslo|lozinka|(?:ş|s)ifre|jelsz(?:ó|o)|пароль|密码|密碼|口令|パスワード|비밀번호';
/** Names whose value is a password. "All tests pass: reverted" names none. */
export const PASSWORDS = String.raw`pass(?:word|wd|phrase|code)|(?<![a-z])(?<!\b(?:tests?|checks?|builds?|suites?|all|they)[ ])(?:pass|pwd|pw|psk)|(?:seed|recovery)[-_ ]?phrase|mnemonic|${FOREIGN}`;
export const KEYS =
  'secret(?:[-_]?id)?|token|authorization|(?:secret|api|access|account|auth|client|encryption|license|master|private|session|shared|signing|storage|subscription)[-_. ]?key(?:[-_](?:base|data))?|(?:session|(?<![a-z])sess)id|connect\\.sid|_auth|(?<=[?&])(?:sig|(?:x-(?:amz|goog)-)?signature)|_key';

/** Programs with the option, in any way that it is given, whose value is a password. */
const OPTION = [
  String.raw`(?:mysql(?:dump|admin)?|mariadb)\b[^\n|;&]{0,200} -p`,
  String.raw`(?:(?:docker|podman|registry|az) login|mongosh?|cqlsh)\b[^\n|;&]{0,200} -p `,
  'sshpass -p ?',
  String.raw`redis-cli\b[^\n|;&]{0,200} -a `,
  String.raw`ldap(?:search|add|modify|delete|passwd|whoami)\b[^\n|;&]{0,200} -w `,
  String.raw`(?:sqlcmd|bcp|zip|unzip)\b[^\n|;&]{0,200} -P ?`,
  String.raw`(?:7z|7za|unrar|rar)\b[^\n|;&]{0,200} -p`,
  String.raw`openssl\b[^\n|;&]{0,200} -k `,
  String.raw`(?:smbclient|rpcclient)\b[^\n|;&]{0,200} -U ?(?:\\{0,31}["'])?[\w.@-]{1,64}%`,
  String.raw`(?:curl|wget|https?)\b[^\n|;&]{0,200} -[ua] (?:\\{0,31}["'])?[\w.@-]{1,64}:`,
].join('|');
/** Functions that are called with a password, and names that one is called with. */
const CALLED = 'assword|asswd|checkpw|(?:Network|Password)Credentials?|asic_?[Aa]uth|getConnection|PDO';
const CALLED_WITH =
  '[Pp]assw(?:or)?d|PASSWORD|[Tt]oken|TOKEN|[Ss]ecret|SECRET|[Aa]pi[-_]?[Kk]ey|API_KEY|[Aa]uthorization';
const READERS = String.raw`[^\n|]{1,200}(?:-stdin|-with-token)|sudo [A-Za-z -]{0,40}(?:-S|chpasswd)|chpasswd`;

const PEM = `-----BEGIN[ A-Z0-9]{0,40}(?:PRIVATE KEY|NKEY SEED)(?: BLOCK)?-----`;
const PEM_END = `-{5,6}END[ A-Z0-9]{0,40}(?:PRIVATE KEY|NKEY SEED)(?: BLOCK)?-{5,6}`;

interface SecretPattern {
  readonly rule: string;
  /** A text that every match has, and few texts: to look for it costs a tenth of an expression. */
  readonly needs?: string;
  /** Matches cheaply wherever `pattern` does. It must not check what is before: a line break in JSON is a backslash and an n. */
  readonly hint: string;
  /** The secret is the group `secret`, or the whole match. */
  readonly pattern: string;
}

/** Secrets that are known by what stands around them, or by their form as a whole. */
export const PATTERNS: readonly SecretPattern[] = [
  {
    // The whole block, or from its first line if the end is missing.
    rule: 'private-key',
    hint: '-----BEGIN',
    pattern: String.raw`${PEM}(?:(?:(?!-----)[\s\S]){0,20000}${PEM_END}|(?:\s|\\[nrt])*[A-Za-z0-9+/=]{16}[A-Za-z0-9+/=\s\\]*)`,
  },
  {
    // Its middle: whole lines, and the rest below them.
    rule: 'private-key',
    hint: String.raw`[\n\\](?<=[A-Za-z0-9+/]{64}\r?[\n\\])`,
    pattern: String.raw`(?<![^\s"'])(?:(?=[a-z0-9+/]{0,63}[A-Z])[A-Za-z0-9+/]{64}(?:\s{1,4}|$|(?=["']))){2,400}(?:[A-Za-z0-9+/]{1,63}={0,2}(?![^\s"']))?`,
  },
  {
    rule: 'jwt',
    hint: String.raw`\.eyJ`,
    pattern: String.raw`(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?`,
  },
  {
    rule: 'authorization',
    hint: 'B(?:earer|asic) [A-Za-z0-9]',
    pattern:
      '(?<![A-Za-z0-9])(?:Bearer {1,8}(?<secret>[A-Za-z0-9._~+/-]{20,4096}=*)|Basic {1,8}(?<basic>(?=[A-Za-z+/]*[0-9A-Z])[A-Za-z0-9+/]{8,4096}=*))',
  },
  {
    // Includes the user, which may be the token. A password may hold a slash or an at sign.
    rule: 'url-password',
    hint: String.raw`@(?<=:\/\/[^\s"'<>@]{0,768}@)`,
    pattern: String.raw`(?<=:\/\/)(?<user>[^\s/:@"'<>\x60]{0,256}:)(?!\d{1,5}[/?#,])(?<secret>[^\s"'<>\x60]{3,512})@(?=[\w.[$-])`,
  },
  {
    rule: 'url-token',
    hint: String.raw`@(?<=:\/\/[^\s"'<>@]{0,768}@)`,
    pattern: String.raw`:\/\/(?<secret>[^\s/:@"'<>\x60]{20,512})@`,
  },
  {
    rule: 'connection',
    hint: ':oracle:',
    pattern: String.raw`jdbc:oracle:\w{1,10}:[^\s/@]{1,64}\/(?<secret>[^\s/@"'<>]{3,128})@`,
  },
  {
    rule: 'webhook',
    hint: String.raw`\.com\/(?:api\/webhooks|services|workflows|triggers|webhookb2)\/`,
    pattern: String.raw`\b(?:hooks\.slack\.com\/(?:services|workflows|triggers)|discord(?:app)?\.com\/api\/webhooks|webhook\.office\.com\/webhookb2)\/(?<secret>[\w/@-]{20,512})`,
  },
  {
    rule: 'option',
    hint: '--[a-z-]{0,40}(?:pass|token|secret|key)',
    pattern: String.raw`--[a-z-]{0,40}(?:pass(?:word|wd|phrase)?|token|secret|api-?key|access-?key|secret-?key)[ ](?:\\{0,31}["'](?<quoted>[^"'\n\\]{4,512})\\{0,31}["']|(?<secret>[^\s"'\x60<>$\[(|&-][^\s"'\x60<>$|&;,)]{5,512}))`,
  },
  {
    rule: 'option',
    hint: '-[puawPkU](?<= -.)(?<=(?:mysql|mariadb|login|mongo|cqlsh|sshpass|redis-cli|curl|wget|http|ldap|sqlcmd|bcp|zip|7z|rar|openssl|client)[^\\n|;&]{0,210}-.)',
    pattern: String.raw`\b(?:${OPTION})(?:\\{0,31}["'])?(?<secret>[^\s"'<>$:{}\\-][^\s"'<>$:{}\\]{3,128})(?=[\\"'\s]|$)`,
  },
  {
    rule: 'option',
    hint: '-(?:user|pass|creds|auth)',
    pattern: String.raw`(?:--(?:[a-z]{1,12}-)?(?:user|creds|auth)[ =](?:\\{0,31}["'])?[\w.@-]{1,64}:|-pass(?:in|out)? pass:)(?!\d{1,6}(?!\S))(?<secret>[^\s"'<>$:{}\\]{4,128})`,
  },
  {
    rule: 'cookie',
    hint: 'ookie',
    pattern: String.raw`[Cc]ookie\\{0,31}["']?: {0,4}(?:\\{0,31}["'])?(?<secret>[\w.-]{1,64}=[^\s;,"'<>$\\]{8,4096}(?:; ?[\w.-]{1,64}=[^\s;,"'<>$\\]{1,4096}){0,40})`,
  },
  ...['IDENTIFIED', 'identified'].map((word) => ({
    rule: 'sql',
    ...(word === 'identified' && { needs: word }),
    hint: `${word} `,
    pattern: String.raw`\b${word}(?: (?:WITH|with) [^\s]{1,40})? (?:BY|by)(?: (?:PASSWORD|password))? \\{0,31}["'](?<quoted>[^"'\n\\]{3,512})`,
  })),
  ...['PASSWORD', 'assword'].map((word) => ({
    rule: 'sql',
    ...(word === 'assword' && { needs: 'pass' }),
    hint: String.raw`${word}(?: (?:FOR|for) [^\n=]{1,80}=)?(?: | ?\()'`,
    pattern: String.raw`${word}(?: (?:FOR|for) [^\n=]{1,80}=)?(?: | ?\()'(?<quoted>[^'\s\\]{4,512})`,
  })),
  {
    // The last text that a function for passwords is called with.
    rule: 'call',
    hint: String.raw`\((?<=(?:${CALLED})\()`,
    pattern: String.raw`\((?<=(?:${CALLED})\()(?:[^()\n]{0,160}, ?)?b?\\{0,31}["'](?=[^"'\s]{0,80}\d)(?=[^"'\s]{0,80}[A-Za-z])(?<quoted>[^"'\s\\]{6,256})\\{0,31}["']`,
  },
  {
    // A call with the name and the value.
    rule: 'call',
    hint: String.raw`\((?= ?\\{0,31}["'][\w.-]{0,60}(?:${CALLED_WITH})\\{0,31}["'], ?\\{0,31}["'])`,
    pattern: String.raw`\((?= ?\\{0,31}["'][\w.-]{0,60}(?:${CALLED_WITH})\\{0,31}["'],)[^,]{1,160}, ?\\{0,31}["'](?=[^"'\s]{0,80}\d)(?=[^"'\s]{0,80}[A-Za-z])(?<quoted>[^"'\s\\]{8,512})\\{0,31}["']`,
  },
  {
    // In a sentence: what no word and no name of code looks like.
    rule: 'sentence',
    needs: 'pass',
    hint: 'assword (?:is|was|to|now|set|changed|reset|of|for) ',
    pattern: String.raw`assword(?: (?:is|was|to|now|set|changed|reset|of|for [\w.@-]{1,40})){1,3} ["'\x60]?(?=[^\s]{0,64}[a-z])(?=[^\s]{0,64}[A-Z])(?=[^\s]{0,64}\d)(?=[^\s]{0,64}[!@#$%^&*?+=~\d][^\s]{0,64}[!@#$%^&*?+=~\d])(?<secret>[\w!@#$%^&*?+=~]{8,64})(?![\w-])`,
  },
  {
    rule: 'netrc',
    needs: 'pass',
    hint: 'requirepass ',
    pattern: String.raw`requirepass ["']?(?=\S{0,64}\d)(?<secret>[^\s"'<>$\\]{4,256})`,
  },
  // Commands whose last word is a password or a key, by the text that they need.
  ...(
    [
      ['pass', '-(?:key|store)pass ', ''],
      ['pass', String.raw`htpasswd -\w`, String.raw`\w{0,16} \S{1,128} \S{1,64} `],
      ['pass', String.raw`nmcli \S{1,16} \S{1,16} \S{1,16} \S{1,64} password `, ''],
      ['auth', '(?:masterauth|authtoken) ', ''],
      ['user ', String.raw`(?:net |rabbitmqctl add_)user \S{1,64} `, ''],
      ['', 'AUTH ', String.raw`(?<=(?<![\w-])AUTH )(?:(?:PLAIN|LOGIN|default) )?`],
      ['', 'NickServ IDENTIFY ', ''],
    ] as const
  ).map(([needs, hint, more]) => ({
    rule: 'command',
    hint,
    ...(needs !== '' && { needs }),
    pattern: String.raw`${hint}${more}["']?(?=\S{0,128}\d)(?=\S{0,128}[A-Za-z])(?<secret>[^\s"'<>$(){}\\]{8,512})(?![\w(])`,
  })),
  {
    rule: 'mailchimp',
    hint: String.raw`-us\d(?<=[0-9a-f]{32}-us\d)`,
    pattern: String.raw`(?<![0-9a-f])[0-9a-f]{32}-us\d{1,2}(?!\w)`,
  },
  {
    rule: 'firebase',
    hint: ':APA91b',
    pattern: String.raw`AAAA[\w-]{7}:APA91b[\w-]{100,256}`,
  },
  {
    // A data source name of Go, without a scheme.
    rule: 'url-password',
    hint: String.raw`@(?:tcp|unix)\(`,
    pattern: String.raw`(?<![\w./:-])[\w.-]{1,64}:(?<secret>[^\s"'\x60@]{3,128})@(?=(?:tcp|unix)\()`,
  },
  {
    rule: 'discord',
    hint: String.raw`\.[\w-]{6}\.[\w-]{27}`,
    pattern: String.raw`(?<![\w-])[MNO][\w-]{23,27}\.[\w-]{6}\.[\w-]{27,40}(?![\w-])`,
  },
  {
    rule: 'telegram',
    hint: ':AA[A-Za-z0-9_-]{30}',
    pattern: '(?<=[^A-Za-z0-9]|^|/bot)[0-9]{6,12}:AA[A-Za-z0-9_-]{30,40}',
  },
  // A password that a command reads from another, or from a string.
  ...['-(?:stdin|with-token|S )', 'chpasswd'].map((hint) => ({
    rule: 'option',
    ...(hint === 'chpasswd' && { needs: 'pass' }),
    hint,
    pattern: String.raw`(?:\b(?:echo|printf)(?: -[en]{1,2})?(?: \\{0,31}["']?%s(?:\\{1,31}n)?\\{0,31}["']?)? (?=[^\n|]{4,300}\| ?(?:${READERS}))|-stdin[^\n|;&]{0,200}<<< {0,4})(?:\\{0,31}["'])?(?<secret>[^\s"'<>$|\\]{4,256})`,
  })),
  {
    rule: 'variable',
    hint: 'ENV [A-Z]',
    pattern: String.raw`\bENV [A-Z_]{0,40}(?:PASSWORD|SECRET|TOKEN|KEY) (?<secret>[^\s"'$<]{6,512})`,
  },
  ...['PASSWORD', 'SECRET', 'TOKEN', 'API_KEY'].map((name) => ({
    rule: 'variable',
    hint: `${name} [A-Za-z0-9]`,
    pattern: String.raw`${name} (?=[A-Za-z_-]{0,60}\d)(?=[\d_-]{0,60}[A-Za-z])(?<secret>[A-Za-z0-9+/=_-]{16,512})(?![\w.])`,
  })),
  {
    rule: 'netrc',
    needs: 'pass',
    hint: 'login ',
    pattern: String.raw`\blogin[ \t]{1,8}\S{1,128}\s{1,40}password[ \t]{1,8}(?<secret>\S{4,512})`,
  },
  {
    rule: 'pgpass',
    hint: String.raw`:\d{4,5}:[a-z*]`,
    pattern: String.raw`(?<![^\s"'])[\w.*-]{1,128}:\d{4,5}:[a-z*][\w*-]{0,63}:[a-z*][\w*-]{0,63}:(?<secret>[^\s:"']{6,512})(?![^\s"'])`,
  },
  {
    rule: 'hash',
    hint: String.raw`\$(?=(?:apr1|[156]|2[abxy]|y|argon2id?)\$)`,
    pattern: String.raw`\$(?:apr1|[156]|2[abxy]|y|argon2id?)\$[./A-Za-z0-9$=,]{20,256}`,
  },
  {
    rule: 'docker-auth',
    hint: String.raw`auth\\{0,31}["']`,
    pattern: String.raw`["']auth\\{0,31}["']: {0,4}\\{0,31}["'](?<secret>[A-Za-z0-9+/]{12,4096}={0,2})\\{0,31}["']`,
  },
  {
    rule: 'azure-client',
    hint: '~(?<=[78]Q~)',
    pattern: '(?<![A-Za-z0-9_~.-])[A-Za-z0-9_~.]{3}[78]Q~[A-Za-z0-9_~.-]{31,34}(?![A-Za-z0-9_~.-])',
  },
];
